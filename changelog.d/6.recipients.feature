Braze: campaign triggers accept recipients by `user_alias` and with `attributes`.
