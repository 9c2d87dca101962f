"""Trained models in files: read as data, so that no file can run code, and written for a corpus.

models           a `model_<id>` folder of a corpus, in the competition's format or Keras' own
keras_files      a user's `.keras` or `.h5` file or SavedModel (saved_model)
any_model        either of these, by its path (model_paths)
keras_config     checks a Keras configuration (keras_calls, keras_operations, keras_values,
                 stock_layers); keras_graph builds the model of it
custom           layers of the user's own modules, and whole models of them (subclassed)
weights          the weight files of a corpus (hdf5, keras_names)
"""
