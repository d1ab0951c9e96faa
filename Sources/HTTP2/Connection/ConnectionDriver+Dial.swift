internal import CLinuxEvents
internal import NIOConcurrencyHelpers

/// The attempts of one connection to reach one of its host's addresses.
struct Dial {
    /// One attempt that is still undecided.
    struct Attempt {
        let address: SocketAddress
        let socket: Socket
        let token: UInt64
    }

    var startedAt: ContinuousClock.Instant?
    var addresses: [SocketAddress] = []
    var attempts: [Attempt] = []
}

// From the host name to a socket. Every dial resolves the name again, and tries several addresses if the first does not answer.
extension ConnectionDriver {
    func resolve(_ core: LoopCore) {
        dial.startedAt = core.now
        let (connection, driver) = (self.connection, self)
        let configuration = connection.configuration
        Resolver.resolve(host: configuration.host, port: configuration.port) { result in
            connection.mailbox.withLockedValue { $0.addresses = result }
            _ = connection.loop.wake(driver)
        }
    }

    func resolved(_ result: Result<[SocketAddress], HTTP2Error>, _ core: LoopCore) {
        switch result {
        case .success(let found):
            dial.addresses = AddressBook.shared.ordered(found, now: core.now)
            perform(machine.resolved(addressCount: found.count, now: core.now), core)
        case .failure(let error):
            perform(machine.failed(error), core)
        }
    }

    func connect(to index: Int, _ core: LoopCore) {
        guard dial.addresses.indices.contains(index) else { return }
        let address = dial.addresses[index]
        do {
            let socket = try Socket(connectingTo: address, timeouts: connection.configuration.timeouts.bounded)
            let token = try core.watch(socket.descriptor, self, mask: EPOLLIN.rawValue | EPOLLOUT.rawValue)
            dial.attempts.append(Dial.Attempt(address: address, socket: socket, token: token))
        } catch {
            AddressBook.shared.failed(address, now: core.now)
            perform(machine.connectFailed(error, now: core.now), core)
        }
    }

    /// The kernel has decided one attempt. The first successful attempt wins, and the others are dropped.
    func attemptDecided(_ token: UInt64, _ core: LoopCore) {
        guard let index = dial.attempts.firstIndex(where: { $0.token == token }) else { return }
        let attempt = dial.attempts.remove(at: index)
        if let error = attempt.socket.connectError {
            core.forget(token)
            AddressBook.shared.failed(attempt.address, now: core.now)
            perform(machine.connectFailed(error, now: core.now), core)
        } else {
            for other in dial.attempts { core.forget(other.token) }
            dial.attempts = []
            use(attempt)
            perform(machine.connected(now: core.now), core)
        }
    }
}
