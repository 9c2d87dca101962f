"""The zoo builder: trains a grid of networks and writes them as a corpus of the competition.

architectures  the competition's families of networks, as lists of layers
grid, presets  which networks, trained how
training       one network, until it fits its training data
layout         the files
workers, build many networks: processes, resuming, the end of a build
add            a network that somebody else trained
"""
