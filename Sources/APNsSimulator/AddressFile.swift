import Foundation

/// Publishes the addresses on which the simulator listens: `{"apns","control","manage"}`, each `host:port`.
package enum AddressFile {
    /// Writes the file atomically, so that a reader sees either all of it or nothing.
    ///
    /// - Throws: the error of the file system.
    package static func write(_ addresses: Simulator.Addresses, to path: String) throws {
        let fields = [("apns", addresses.apns), ("control", addresses.control), ("manage", addresses.manage)]
        let json = "{" + fields.map { #""\#($0.0)":"\#($0.1)""# }.joined(separator: ",") + "}\n"
        try Data(json.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
