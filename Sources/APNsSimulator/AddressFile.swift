import Foundation

/// Tells whoever started the simulator where it listens: `{"apns","control","manage"}`, each `host:port`.
package enum AddressFile {
    /// Writes the file in one step, so that a reader sees all of it or none.
    ///
    /// - Throws: what the file system says.
    package static func write(_ addresses: Simulator.Addresses, to path: String) throws {
        let fields = [("apns", addresses.apns), ("control", addresses.control), ("manage", addresses.manage)]
        let json = "{" + fields.map { #""\#($0.0)":"\#($0.1)""# }.joined(separator: ",") + "}\n"
        try Data(json.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
