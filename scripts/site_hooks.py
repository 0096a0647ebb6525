"""What mkdocs.yml cannot say in YAML: headings are linked to as on GitHub."""

import re
from typing import Any


def slug(text: str, separator: str) -> str:
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def on_config(config: Any) -> Any:
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug}
    return config
