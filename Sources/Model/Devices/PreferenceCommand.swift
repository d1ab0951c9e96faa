/// What the user of a device chose about pushes.
package enum PreferenceCommand: Sendable, Hashable {
    case preferences(DeviceCaller)
    case setPreferences(DeviceCaller, PreferenceChange)
}

/// The result of a preference command.
package enum PreferenceReply: Sendable, Hashable {
    case preferences(DevicePreferences)
    case preferencesSet
}
