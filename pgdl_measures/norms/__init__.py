"""The 24 measures of Dziugaite et al. 2020 (Appendix C.6), on layers with batch norm fused.

`m` is the number of training examples throughout; all are oriented as the paper has them, larger
for a larger predicted gap. By section: `output` (C.6.1 and C.6.2), `spectral_measures` (C.6.3),
`frobenius` (C.6.4), `path` (C.6.5), `flatness` (C.6.6). The paper cites Jiang et al. 2020a,
"Fantastic Generalization Measures", as [9]; where its text leaves something open, the authors' code
(github.com/nitarshan/robust-generalization-measures, data/generation/measures.py) was read for what
they computed, and each file says so.
"""
