internal import ApplePayload
internal import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// Channels of the credentials that are open here.
extension APNsTransport {
    /// Which client it is: a channel belongs to one environment.
    struct ChannelKey: Hashable {
        let credential: CredentialKey
        let environment: PushEnvironment
    }

    /// A client with what it was made of.
    struct Channels {
        let credential: APNsCredential
        let client: ChannelClient
    }

    /// The client for channels and broadcasts of one credential and environment. The same as long as the credential is; it dials when it is asked.
    ///
    /// - Throws: `noCredential` if the credential is not open or not for that environment, `noChannelEndpoint`, `shutDown`, or what `open` throws.
    package func channels(of key: CredentialKey, in environment: PushEnvironment) throws(APNsError) -> ChannelClient {
        let (route, isShutDown) = state.withLockedValue { ($0.routes[key], $0.isShutDown) }
        if isShutDown { throw APNsError(.shutDown) }
        guard let credential = route?.credential, credential.fits(environment) else { throw APNsError(.noCredential) }
        let place = ChannelKey(credential: key, environment: environment)
        if let known = state.withLockedValue({ $0.channels[place] }), known.credential == credential {
            return known.client
        }
        let made = Channels(credential: credential, client: try channelClient(credential, environment))
        let (client, unused) = state.withLockedValue { state -> (ChannelClient, ChannelClient?) in
            // Made by another call meanwhile.
            if let known = state.channels[place], known.credential == credential { return (known.client, made.client) }
            return (made.client, state.channels.updateValue(made, forKey: place)?.client)
        }
        unused?.close()
        return client
    }

    /// Closes the clients of one credential, or all.
    func closeChannels(of key: CredentialKey? = nil) {
        let closed = state.withLockedValue { state -> [Channels] in
            let places = state.channels.keys.filter { key == nil || $0.credential == key }
            return places.compactMap { state.channels.removeValue(forKey: $0) }
        }
        for channels in closed { channels.client.close() }
    }

    private func channelClient(
        _ credential: APNsCredential,
        _ environment: PushEnvironment
    ) throws(APNsError) -> ChannelClient {
        guard let hosts = ChannelHosts(credential, environment) else { throw APNsError(.noChannelEndpoint) }
        return ChannelClient(
            hosts: hosts,
            tls: try context(for: credential),
            loop: loops[0],
            authorization: try authorization(of: credential)
        )
    }

    /// Returns a function that gives provider tokens, the same ones that pushes use; it returns nil if a certificate authenticates.
    private func authorization(of credential: APNsCredential) throws(APNsError) -> ChannelClient.Authorization {
        guard case .token(let key) = credential.proof else {
            return { (_: String?) throws(APNsError) -> String? in nil }
        }
        let signer = try ProviderTokenSigner(
            teamID: key.teamID,
            keyID: key.keyID,
            privateKeyPEM: key.privateKeyPEM
        )
        let last = NIOLockedValueBox<ProviderToken?>(nil)
        return { [tokens] (refused: String?) async throws(APNsError) -> String? in
            let known = last.withLockedValue { $0 }
            let stale = known?.authorization == refused ? known : nil
            let token = try await tokens.token(for: signer, replacing: stale).token
            last.withLockedValue { $0 = token }
            return token.authorization
        }
    }
}

extension ChannelHosts {
    /// Where a credential's channels are; nil: it goes to a service that is not Apple's, whose channel endpoint is not known.
    init?(_ credential: APNsCredential, _ environment: PushEnvironment) {
        self.init(environment)
        if let own = credential.channelEndpoint {
            manage = own
        } else if let endpoint = credential.endpoint, !endpoint.isApples {
            return nil
        }
        if let endpoint = credential.endpoint { send = endpoint }
    }
}
