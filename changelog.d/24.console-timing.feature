Pages of the console state the time of the server, of its steps, and of the API calls behind them, in the header `Server-Timing`.
