`GET /v1/messages/{message}` has `content`, the members of `sendMessage` with which the message can be sent again. Composing from an earlier message in the console keeps them.
