"""Detecting overfitting via adversarial examples (Werpachowski et al. 2019).

independence  the tests: pairwise, N models, basic; p-values and intervals (NumPy only)
translations  how an image is shifted without losing pixels
windows       which translations a network misclassifies, evaluated lazily
generators    adversarial example generators over translations, and their densities
examination   all of these for one network and its data
padding       whether a network tolerates upsampled images
similarity    how similar are models trained on images and on upsampled windows
measure       the registered complexity
gradient      the L2-gradient generator of linear classifiers, with its analytic density
synthetic     the 500-dimensional study of Section 4
"""
