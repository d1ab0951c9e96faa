A push that Apple defers (429, 503, `Retry-After`) no longer delays the other targets of its message: it continues alone, and only its own attempts count. The same holds while a node stops and for rate limits.
Resuming a paused message keeps the waits of its deliveries and its pace; requeued deliveries keep the pace.
A wrong topic (`BadTopic`, `TopicDisallowed`, `MissingTopic`) stops only its app, not every app that uses the key. New gauge: `delivery_topics_refused`.
A push that fails because its sender chose a wrong `apns.pushType` neither stops the app's topic nor quarantines the token.
A message that cannot be read or expanded is given up after about two and a half minutes (`loadFailed`, `expansionFailed`) and can be requeued; before, it was tried without end.
Canceled, expired and paused messages no longer count in badges.
