"""`pgdl rank`: which of one's own models will do best on data that one does not have?"""
