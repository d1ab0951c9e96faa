The palette of the web console (⌘K) has the actions at the heading of the page and the apps too.
