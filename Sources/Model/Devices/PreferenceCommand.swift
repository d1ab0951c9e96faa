/// Reads or changes the push preferences of a device's user.
package enum PreferenceCommand: Sendable, Hashable {
    case preferences(DeviceCaller)
    case setPreferences(DeviceCaller, PreferenceChange)
}

/// The result of a preference command.
package enum PreferenceReply: Sendable, Hashable {
    case preferences(DevicePreferences)
    case preferencesSet
}
