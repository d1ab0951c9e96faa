/// A key that encrypts backups. It is derived from a master key, for this purpose only.
package struct BackupKey: Sendable {
    /// 16 hexadecimal digits: the id of the master key.
    package var id: String
    /// 32 bytes.
    var secret: [UInt8]

    package init(id: String, secret: [UInt8]) {
        self.id = id
        self.secret = secret
    }
}

/// The keys of a gateway, which are read only when a backup needs them.
package struct BackupKeys: Sendable {
    let read: @Sendable () async throws(BackupError) -> [BackupKey]

    /// - Parameter read: returns the keys, the newest last, or throws an error that says how to provide them.
    package init(_ read: @escaping @Sendable () async throws(BackupError) -> [BackupKey]) { self.read = read }
}
