import CPQ

/// The version of libpq that the program has loaded, which the system's packages update without a new build.
package enum LibpqVersion {
    /// For example `15.18`.
    package static var text: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
