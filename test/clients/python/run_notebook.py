"""Runs a notebook in the folder that it lies in. Fails with the error of the first cell that fails, and if no cell has an output."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

path = Path(sys.argv[1])
notebook = nbformat.read(path, as_version=4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
if not any(output.output_type in ("display_data", "execute_result") for output in outputs):
    sys.exit(f"{path} shows no result")
