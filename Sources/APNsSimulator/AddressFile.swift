import Foundation

/// Tells whoever started the simulator where it listens: `{"apns":"host:port","control":"host:port"}`.
package enum AddressFile {
    /// Writes the file in one step, so that a reader sees all of it or none.
    ///
    /// - Throws: what the file system says.
    package static func write(_ addresses: Simulator.Addresses, to path: String) throws {
        let json = #"{"apns":"\#(addresses.apns)","control":"\#(addresses.control)"}"# + "\n"
        try Data(json.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
