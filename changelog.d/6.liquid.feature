Braze: texts of a push may be Liquid templates, rendered for each user. `abort_message` suppresses a delivery with the new reason `withheld`. Unsupported expressions are
refused when the message is accepted.
