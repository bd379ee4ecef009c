#!/usr/bin/env python3
"""Writes crawler/html/entities.inc: the named character references of the HTML Standard, from Python's own copy.

    tools/entities.py > crawler/html/entities.inc
"""
import textwrap
from html.entities import html5


def literal(text):
    return ''.join(f'\\x{byte:02x}' for byte in text.encode())


print('/* Made by tools/entities.py. Each name, in the order of its bytes, and what it stands for. */')
rows = ' '.join(f'{{"{name}",~"{literal(html5[name])}"}},' for name in sorted(html5, key=str.encode))
print(textwrap.fill(rows, 120, break_long_words=False, break_on_hyphens=False).replace('~', ' '))
