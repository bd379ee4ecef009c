/* Colours of reports and plots for light and dark pages, and rules for the parts of a plot. See svg.h. */
#include "lab/report/svg.h"

/* The colours of curves also differ in lightness, and every curve has its own symbol. */
const char *const lab_svg_colours =
    ":root{color-scheme:light dark;--paper:#fdfdfc;--ink:#1c2126;--quiet:#59636e;--line:#d5d9de;--wash:#f2f4f5;"
    "--link:#0b5cad;--good:#1a6b3c;--some:#8a5a00;--bad:#b3261e;--odd:#6b3fa0;"
    "--c0:#0b5fa5;--c1:#c2500c;--c2:#007a66;--c3:#8e44ad;--c4:#8a6a00;--c5:#b02a5b;--c6:#3c8fc9;--c7:#4a5560}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#15191d;--ink:#e3e7ea;--quiet:#9ba6b1;--line:#343c45;"
    "--wash:#1e2429;--link:#79b8ff;--good:#6fcf97;--some:#e5b454;--bad:#ff8a80;--odd:#c6a3f5;"
    "--c0:#63b0f4;--c1:#ff9a57;--c2:#45cdb0;--c3:#cf9bf0;--c4:#dcc04f;--c5:#ff8bb3;--c6:#a5d8ff;--c7:#b4bfca}}\n";

const char *const lab_svg_rules =
    ".plot{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    ".plot text{fill:var(--ink)}.plot .tick{fill:var(--quiet);font-size:12px}.plot .head{font-size:15px;"
    "font-weight:600}\n"
    ".plot .back{fill:var(--paper)}.plot .grid{stroke:var(--line);stroke-width:1}"
    ".plot .axis{stroke:var(--quiet);stroke-width:1}\n"
    ".plot .theory,.plot .join,.plot .bar{fill:none;stroke:currentColor;stroke-width:1.4}"
    ".plot .join{stroke-dasharray:2 4}.plot .bound{stroke-dasharray:7 4}.plot .planned{stroke-dasharray:8 3 2 3}\n"
    ".plot .bar{stroke-opacity:.6}.plot .none{stroke-opacity:.3}.plot .theory{stroke-linejoin:round}.plot "
    ".full{fill:currentColor;stroke:currentColor;stroke-width:1}\n"
    ".plot .hollow{fill:none;stroke:currentColor;stroke-width:1.3}.plot .key{color:var(--ink)}\n"
    ".c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}"
    ".c4{color:var(--c4)}.c5{color:var(--c5)}.c6{color:var(--c6)}.c7{color:var(--c7)}\n";
