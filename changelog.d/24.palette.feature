The palette of the web console (⌘K) also lists the actions of the page and the apps.
