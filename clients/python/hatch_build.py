"""Build hook: generates the modules that derive from the OpenAPI document. A source distribution already has them."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratorHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        generator = Path(self.root).parent.parent / "bin/generate.cjs"
        if generator.exists():
            try:
                subprocess.run(["node", str(generator)], check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise RuntimeError(f"{generator} failed: expected Node.js, and npm ci in the checkout.") from error
        for name in ("models.py", "operations.py"):
            if not (Path(self.root) / "src/carquet_client" / name).exists():
                raise FileNotFoundError(f"Missing module carquet_client/{name}: expected a checkout or a source distribution of Carquet.")
