Braze: texts of a push may be Liquid templates, rendered for each user; `abort_message` suppresses a delivery with the new reason `withheld`. What is not
understood is refused when the message is accepted.
