"""The zoo builder: trains a grid of networks and writes them as a corpus of the competition.

architectures  families of networks as lists of layers, and functions of the user's
grid, presets  which networks, trained how; one file of presets per paper
augment        a perturbation at none, partial and full; standard, autoaugment, rescaled: the others
training       one network, until it fits its training data: optimizers, schedules, dropout
layout         the files
prepare        from what a user asks for to a plan
workers, build many networks: processes, resuming, the end of a build
suite          several tasks into one corpus
add            a network that somebody else trained
"""
