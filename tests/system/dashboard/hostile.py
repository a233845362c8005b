"""Strings that want to be more than text: whichever runs sets `window.ran`, or shows a dialog."""

from __future__ import annotations

from itertools import product
from typing import Final

_RUN: Final = "window.ran=1"
_MARKUP: Final = (
    "<script>{}</script>",
    "<ScRiPt>{}</sCrIpT>",
    "<script/x>{}</script>",
    "<script src=data:,{}></script>",
    "<img src=x onerror={}>",
    "<img src=x onerror='{}'>",
    '<img src="x" onerror="{}">',
    "<img/src/onerror={}>",
    "<svg onload={}>",
    "<svg/onload='{}'>",
    "<svg><script>{}</script></svg>",
    "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<svg><a xlink:href='javascript:{}'><text y=9>x</text></a></svg>",
    "<body onload={}>",
    "<iframe src='javascript:{}'></iframe>",
    "<iframe srcdoc='<script>{}</script>'></iframe>",
    "<object data='javascript:{}'></object>",
    "<embed src='javascript:{}'>",
    "<a href='javascript:{}' autofocus onfocus={}>x</a>",
    "<input autofocus onfocus={}>",
    "<select autofocus onfocus={}></select>",
    "<textarea autofocus onfocus={}></textarea>",
    "<video><source onerror={}></video>",
    "<audio src=x onerror={}></audio>",
    "<details open ontoggle={}>x</details>",
    "<marquee onstart={}>x</marquee>",
    "<style>@import 'javascript:{}';</style>",
    "<link rel=stylesheet href='javascript:{}'>",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<base href='javascript:{}//'>",
    "<form action='javascript:{}'><button autofocus>x</button></form>",
    "<math><mtext><script>{}</script></mtext></math>",
    "<template><script>{}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={}>'>",
    "<!--><img src=x onerror={}>-->",
    "<![CDATA[<script>{}</script>]]>",
    "<div style='background:url(javascript:{})'>x</div>",
    "<p onpointerenter={}>x</p>",
)
_AROUND: Final = ("{}", "'\">{}", "</td></tr></table>{}", "</textarea></title>{}", "`${{0}}`{}")
_OTHERS: Final = (
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}",
    f"java\tscript:{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    f"${{{_RUN}}}",
    f"`-{_RUN}-`",
    f"'-{_RUN}-'",
    f'"-{_RUN}-"',
    f"{{{{constructor.constructor('{_RUN}')()}}}}",
    f"<%= {_RUN} %>",
    f"]]>{_RUN}",
    '{"__proto__": {"ran": 1}}',
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "\u202egnp.exe",
    "\u2028\u2029",
    "﷽" * 30,
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
    "👩‍👩‍👧‍👦" * 20,
    "a" * 2_000,
    "very " * 200,
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://example.org\x07link\x1b]8;;\x07",
    "%00%0a%0d",
    "../../../../etc/passwd",
    "..\\..\\windows",
    "queue:mail state:failed",
    '"unclosed',
    "a,b,c",
    "-minus",
    "#/jobs?where=state:failed",
    "?token=stolen",
    "24/7",
    "null",
    "true",
    "NaN",
    "0x1F",
    "1e400",
    "9007199254740993",
    " ",
)


def hostile() -> list[str]:
    """Two hundred and more of them."""
    marked = [around.format(markup) for around, markup in product(_AROUND, _MARKUP)]
    return [*(text.replace("{}", _RUN) for text in marked), *_OTHERS]
