/// A vendor whose own export of devices is read as it is: `devices import --from`.
package protocol ExportReading: DeviceImporting {
    /// Returns the registrations of one line of the export, `.registration(.register(…))`; none: the line is about no device, such as a user without a push token.
    ///
    /// The same line and terms give the same registrations. A device without a key gets one that is derived from its token.
    ///
    /// - Throws: `ExportFault`.
    func registrations(inExport line: [UInt8], _ terms: ExportTerms) throws(ExportFault) -> [Command]
}

/// The facts about an export that its lines do not state.
package struct ExportTerms: Sendable, Hashable {
    /// The environment of tokens for which the export names none; nil: not known.
    package var environment: PushEnvironment?
    /// The vendor's name of the app, if the export may contain several; nil: all.
    package var app: String?
    /// When the export was made; nil: not known.
    package var asOf: Timestamp?

    package init(environment: PushEnvironment? = nil, app: String? = nil, asOf: Timestamp? = nil) {
        self.environment = environment
        self.app = app
        self.asOf = asOf
    }
}

/// The reason why a line of an export cannot be read, as a phrase after the line's number.
package struct ExportFault: Error, Hashable {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}
