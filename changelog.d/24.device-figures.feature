The console shows figures of devices: how many were reached, gained and lost, and notifications by system, version, model, app, SDK and language, with CSV and JSON.
