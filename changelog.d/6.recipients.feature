Triggers of Braze's campaigns take recipients by `user_alias` and with `attributes`.
