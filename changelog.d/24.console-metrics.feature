Metrics of the console: answers and times of its pages, sign-ins by outcome, and open live pages, with panels on the dashboard.
