"""Text that steers terminals, forges lines, reorders what is read, or cannot be encoded."""

HOSTILE = "\x1b[31mred\x1b]0;title\x07\r\nforged\x00\x7f\x9b\u202eoverride\u2028line\ud800"
