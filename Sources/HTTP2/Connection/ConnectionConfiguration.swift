/// Where a connection goes and how it behaves.
package struct ConnectionConfiguration: Sendable {
    /// A DNS name or an IP address.
    package var host: String
    /// The TCP port.
    package var port: Int
    /// Whom to believe and which `TLSIdentity` to show. Connections that share one resume each other's TLS sessions.
    package var tls: TLSContext
    /// What the peer's certificate must be for, and the SNI; the host unless set.
    package var serverName: String?
    /// The response fields to keep; others are dropped unread.
    package var collectedFields: [FieldName] = []
    /// How many streams may be open before the peer's SETTINGS are here. 1 is what Apple asks of token connections.
    package var initialStreamLimit = 1
    /// The bounds.
    package var limits = HTTP2Limits()
    /// The deadlines: for dialling, PING and its answer, idleness, age and drain.
    package var timeouts = HTTP2Timeouts()

    /// A configuration with the defaults.
    package init(host: String, port: Int, tls: TLSContext) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}

/// What happened on a connection since the last report.
package struct ConnectionReport: Sendable {
    /// Requests that ended, each once.
    package internal(set) var completions: [Completion] = []
    /// What happened to the connection itself, in order.
    package internal(set) var changes: [ConnectionChange] = []
    /// How many requests `submit` would take now.
    package internal(set) var credits = 0
}

/// Something that happened to a connection.
package enum ConnectionChange: Sendable, Equatable {
    /// It is ready for requests.
    case opened
    /// The peer changed how many streams may be open.
    case streamLimit(Int)
    /// The peer takes no more requests: take the connection out of rotation. Open streams at or below the last id go on; the
    /// connection closes when they are done.
    case goAway(GoAway)
    /// The stream numbers are used up: as after a GOAWAY.
    case exhausted
    /// It was idle or open for as long as `HTTP2Timeouts` allows: as after a GOAWAY. A connection that is aged before another
    /// is open may be replaced first; what is submitted to it from now on completes as unsent.
    case retired(RetirementReason)
    /// A PING was answered after this long.
    case pingAnswered(Duration)
    /// The last report: the connection is gone, and every request has completed. Nil if it ended in good order.
    case closed(HTTP2Error?)
}

/// Why a connection ends by its own rule.
package enum RetirementReason: Sendable, Equatable {
    /// No request was open for `HTTP2Timeouts.idleClose`.
    case idle
    /// It was open for `HTTP2Timeouts.maxAge`, less the spread.
    case age
}

/// What a pool looks at when it picks a connection. A snapshot, as old as the loop's last turn.
package struct ConnectionLoad: Sendable, Equatable {
    /// Where a connection is in its life.
    package enum Phase: Sendable, Equatable {
        /// Not open yet. Goes to: open, closed.
        case opening
        /// Takes requests. Goes to: draining, closed.
        case open
        /// Takes none, and finishes what is open. Goes to: closed.
        case draining
        /// Gone.
        case closed
    }

    /// Where it is in its life.
    package internal(set) var phase = Phase.opening
    /// Requests submitted and not completed, the queued ones included.
    package internal(set) var inFlightCount = 0
    /// How many requests `submit` would take.
    package internal(set) var credits = 0
    /// How many streams may be open at once.
    package internal(set) var streamLimit = 0
    /// What the peer's connection window lets us send, in bytes of body. Below two bodies, another connection is better.
    package internal(set) var sendWindowBytes = 0
    /// Streams started over its life.
    package internal(set) var startedCount: UInt32 = 0
    /// How its TLS handshake went; nil before it is open.
    package internal(set) var handshake: TLSHandshake?
    /// How long the whole dial took: look-up, TCP and TLS; nil before it is open.
    package internal(set) var dialDuration: Duration?
    /// How long the last PING took; nil before the first answer.
    package internal(set) var pingDuration: Duration?
    /// Encrypted bytes that wait for the socket: above zero the peer, or the way to it, does not keep up. At most
    /// `HTTP2Limits.maxPendingOutputBytes` and a record.
    package internal(set) var pendingOutputBytes = 0
}

/// Who is told what happens on a connection: the pool above it.
package protocol ConnectionObserver: AnyObject, Sendable {
    /// Called at most once per wake-up of the loop, on the loop's thread; must not block. It may call the connection, `submit`
    /// included, which is the cheapest place to give it more work.
    ///
    /// A report comes when a request completed, when something changed, and when there are credits again after a `submit`
    /// could not place its whole batch.
    func connection(_ connection: Connection, reported report: borrowing ConnectionReport)
}
