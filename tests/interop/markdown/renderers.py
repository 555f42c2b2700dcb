"""Renders texts, a JSON list on standard input, with each Markdown library of Python."""
import json
import sys

import cmarkgfm
import markdown
import markdown2
import mistune
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.attrs import attrs_block_plugin, attrs_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

PYMDOWN = ["arithmatex", "betterem", "blocks.details", "blocks.admonition", "caret", "critic", "details", "emoji", "highlight", "inlinehilite", "keys", "magiclink", "mark", "smartsymbols", "superfences", "tabbed", "tasklist", "tilde"]
MISTUNE = ["strikethrough", "footnotes", "table", "url", "task_lists", "def_list", "abbr", "mark", "insert", "superscript", "subscript", "math", "ruby", "spoiler"]

myst = MarkdownIt("gfm-like", {"html": True, "typographer": True}).enable(["replacements", "smartquotes"])
for plugin in [front_matter_plugin, footnote_plugin, deflist_plugin, dollarmath_plugin, attrs_plugin, attrs_block_plugin, admon_plugin, myst_block_plugin, myst_role_plugin]:
    myst.use(plugin)
myst.use(container_plugin, "note")

RENDERERS = {
    "cmark-gfm": lambda text: cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_SMART | Options.CMARK_OPT_FOOTNOTES),
    "cmark-gfm, safe": cmarkgfm.github_flavored_markdown_to_html,
    "Python-Markdown": lambda text: markdown.markdown(text, extensions=["extra", "admonition", "codehilite", "legacy_attrs", "meta", "nl2br", "sane_lists", "smarty", "toc", "wikilinks"]),
    "pymdown": lambda text: markdown.markdown(text, extensions=["tables", "nl2br"] + ["pymdownx." + name for name in PYMDOWN]),
    "mistune": mistune.create_markdown(escape=False, plugins=MISTUNE),
    "mistune, escaping": mistune.create_markdown(plugins=MISTUNE),
    "markdown-it-py": MarkdownIt("gfm-like").render,
    "markdown-it-py, MyST": myst.render,
    "markdown2": lambda text: markdown2.markdown(text, extras=["break-on-newline", "code-friendly", "cuddled-lists", "fenced-code-blocks", "footnotes", "smarty-pants", "spoiler", "strike", "tables", "task_list"]),
}


def rendered(render, text):
    try:
        return render(text)
    except Exception:
        return None


texts = json.load(sys.stdin)
json.dump({name: [rendered(render, text) for text in texts] for name, render in RENDERERS.items()}, sys.stdout)
