"""How long a measure takes on the competition's GPUs, estimated from a run on this machine.

`work` counts the operations and bytes of one layer, `counting` how often a measure runs each layer;
`calibration` measures how fast this machine runs them, and `roofline` estimates how fast a K80 or a
V100 would. `profile` combines the four for each model. The report is `pgdl limits`.
"""
