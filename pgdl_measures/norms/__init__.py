"""The 24 measures of Dziugaite et al. 2020 (Appendix C.6), on layers with batch norm fused.

`m` is always the number of training examples. As in the paper, a larger value predicts a larger
gap. By section: `output` (C.6.1 and C.6.2), `spectral_measures` (C.6.3), `frobenius` (C.6.4),
`path` (C.6.5), `flatness` (C.6.6). Where the text leaves something open, we follow the authors'
code (github.com/nitarshan/robust-generalization-measures, data/generation/measures.py) or Jiang et
al. 2020a, whose measures these modify, and say so.
"""
