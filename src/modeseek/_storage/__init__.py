"""Files: formats of tables, one container for models and states, images, and atomic writes.

- `errors`: what can be wrong with a file
- `atomic`: files that appear complete or not at all
- `table`, `cells`, `values`, `contents`: a table in memory, its cells, and what its columns hold
- `formats`: one module for each file format, and their registry
- `reading`, `chunks`, `writing`: tables of any format, whole or in chunks
- `unpacking`: a bound on the size of compressed files after decompression
- `container`, `encoding`: the file of models, checkpoints and resume states
- `work_folder`: the folder of a run that can be resumed
- `image_files`: PNG, JPEG, TIFF, ...
"""
