#!/usr/bin/env python3
"""Writes crawler/encoding/single_byte.inc: the Encoding Standard's encodings with one byte a character.

    tools/single_byte.py > crawler/encoding/single_byte.inc

Python's own tables serve, except where the standard differs: it has a control character for every byte from 0x80 to
0x9f that Windows leaves undefined, and a few letters of its own.
"""
CODECS = {
    'ibm866': 'cp866', 'iso_8859_2': 'iso8859_2', 'iso_8859_3': 'iso8859_3', 'iso_8859_4': 'iso8859_4',
    'iso_8859_5': 'iso8859_5', 'iso_8859_6': 'iso8859_6', 'iso_8859_7': 'iso8859_7', 'iso_8859_8': 'iso8859_8',
    'iso_8859_10': 'iso8859_10', 'iso_8859_13': 'iso8859_13', 'iso_8859_14': 'iso8859_14',
    'iso_8859_15': 'iso8859_15', 'iso_8859_16': 'iso8859_16', 'koi8_r': 'koi8_r', 'koi8_u': 'koi8_u',
    'macintosh': 'mac_roman', 'windows_874': 'cp874', 'windows_1250': 'cp1250', 'windows_1251': 'cp1251',
    'windows_1252': 'cp1252', 'windows_1253': 'cp1253', 'windows_1254': 'cp1254', 'windows_1255': 'cp1255',
    'windows_1256': 'cp1256', 'windows_1257': 'cp1257', 'windows_1258': 'cp1258', 'x_mac_cyrillic': 'mac_cyrillic',
}
DIFFERENT = {
    'koi8_u': {0xAE: 0x045E, 0xBE: 0x040E},
    'windows_1255': {0xCA: 0x05BA},
}


def character(name, codec, byte):
    if byte in DIFFERENT.get(name, {}):
        return DIFFERENT[name][byte]
    try:
        return ord(bytes([byte]).decode(codec))
    except UnicodeDecodeError:
        return byte if byte < 0xA0 and name.startswith('windows') else 0


print('/* Made by tools/single_byte.py: the characters of bytes 0x80 to 0xff; 0: there is none. */')
for name, codec in CODECS.items():
    codes = [character(name, codec, byte) for byte in range(0x80, 0x100)]
    print(f'static const uint16_t {name}[128] = {{')
    for row in range(0, 128, 16):
        print('    ' + ' '.join(f'0x{code:x},' for code in codes[row:row + 16]))
    print('};')
