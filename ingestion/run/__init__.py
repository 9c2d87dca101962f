"""Computing measures for every model of a corpus, resumable and isolated."""
