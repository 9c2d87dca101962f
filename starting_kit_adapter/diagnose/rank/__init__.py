"""`pgdl rank`: which of your own models will do best on new data?"""
