"""Does a measure keep the competition's 300 seconds on its devices? Counted, calibrated, estimated.

`work` knows the operations and bytes of one layer, `counting` how often a measure runs each layer,
`calibration` how fast this machine does, `roofline` how fast a K80 or a V100 would; `profile` puts
them together for one model and `report` shows it.
"""
