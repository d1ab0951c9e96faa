Notification Hubs: registrations as Atom, with new ids, versions, lists by channel, tag and page; several may share one device, and the older SDKs for iOS work.
