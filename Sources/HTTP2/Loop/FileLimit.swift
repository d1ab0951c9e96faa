import CLinuxEvents

/// The limit of open files of this process.
package enum FileLimit {
    /// Raises the limit to the hard limit, at most 1,048,576. Returns the limit afterwards; nil if the system does not report it.
    package static func raise() -> Int? {
        let limit = gateway_raise_file_limit()
        return limit < 0 ? nil : Int(limit)
    }
}
