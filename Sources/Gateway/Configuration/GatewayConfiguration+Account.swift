import EmbeddedPostgres

extension GatewayConfiguration {
    /// The account of a new data directory, if the machine has it and root starts the gateway.
    private static let accountName = "push-gateway"

    /// Continues as another account if root started the command, and the data directory is, or is to be, that account's. The data directory is given to it.
    ///
    /// - Parameter note: gets a sentence for the operator before the account changes.
    /// - Throws: `EmbeddedClusterError` when the account is unknown, or the directory cannot be given to it.
    package func dropRoot(_ note: (String) -> Void) async throws {
        let account = try ProcessAccount.toBecome(runAs, standard: Self.accountName, directory: dataDirectory)
        guard let account else { return }
        try await ProcessAccount.assign(dataDirectory, to: account)
        note("continues as \(account.name), to whom \(dataDirectory) belongs")
        try ProcessAccount.become(account)
    }
}
