import HTTPTypes

/// A call that the gateway has answered and that its upstream receives later. It contains no authorization: that is made when the call leaves.
package struct ForwardedCall: Sendable, Hashable {
    package var app: AppID
    package var vendor: Vendor
    package var upstream: CredentialID
    package var kind: CallKind
    /// The call's name in the vendor's compatibility table.
    package var name: String
    /// The HTTP method.
    package var method: String
    package var path: String
    /// Not decoded, without the question mark.
    package var query: String?
    package var contentType: String?
    /// The proxies that the call has passed, as in the header `Via`, so that no chain of gateways forwards a call to itself. Nil: none.
    package var via: String?
    /// Inflated.
    package var body: [UInt8]

    package init(
        app: AppID,
        vendor: Vendor,
        upstream: CredentialID,
        kind: CallKind,
        name: String,
        method: String,
        path: String,
        query: String? = nil,
        contentType: String? = nil,
        via: String? = nil,
        body: [UInt8]
    ) {
        self.app = app
        self.vendor = vendor
        self.upstream = upstream
        self.kind = kind
        self.name = name
        self.method = method
        self.path = path
        self.query = query
        self.contentType = contentType
        self.via = via
        self.body = body
    }

    /// The call that arrived as `request`.
    package init(_ request: VendorRequest, app: AppID, vendor: Vendor, upstream: CredentialID, kind: CallKind) {
        self.init(
            app: app,
            vendor: vendor,
            upstream: upstream,
            kind: kind,
            name: request.route,
            method: request.method.rawValue,
            path: request.path,
            query: request.query,
            contentType: request.headers[.contentType],
            via: HTTPField.Name("Via").flatMap { request.headers[$0] },
            body: request.body
        )
    }

    /// The request as it is made again, before `prepare`.
    package func request(at time: Timestamp) -> VendorRequest {
        var headers = HTTPFields()
        if let contentType { headers[.contentType] = contentType }
        if let via, let name = HTTPField.Name("Via") { headers[name] = via }
        return VendorRequest(
            route: name,
            method: HTTPRequest.Method(rawValue: method) ?? .post,
            path: path,
            query: query,
            headers: headers,
            body: body,
            receivedAt: time
        )
    }
}

/// Whom a forwarded call is about, as far as its commands say so. Calls about the same user, or about the same device without a user, keep their order.
package struct ForwardedSubject: Sendable, Hashable {
    package var user: UserID?
    /// The vendor's key of the device.
    package var device: VendorDeviceKey?
    /// A token, phone or group, for calls that name neither. Calls that name nothing at all share one order.
    package var other: String?
    /// Whether the call stays when its user or device is erased: it is also about others, or it removes something at the upstream.
    package var outlivesErasure: Bool

    package init(
        user: UserID? = nil,
        device: VendorDeviceKey? = nil,
        other: String? = nil,
        outlivesErasure: Bool = false
    ) {
        self.user = user
        self.device = device
        self.other = other
        self.outlivesErasure = outlivesErasure
    }
}

/// The calls that wait for an upstream and share one ordering key.
package struct ForwardQueue: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var upstream: CredentialID
    /// SHA-256 of the subject's name.
    package var orderingKey: [UInt8]

    package init(tenant: TenantID, app: AppID, upstream: CredentialID, orderingKey: [UInt8]) {
        self.tenant = tenant
        self.app = app
        self.upstream = upstream
        self.orderingKey = orderingKey
    }

    package var credential: CredentialKey { CredentialKey(tenant: tenant, credential: upstream) }
}

/// The first call of a queue that is leased to this node.
package struct ForwardLease: Sendable, Hashable {
    package var queue: ForwardQueue
    package var epoch: Int64
    /// Consecutive failures of the first call.
    package var attempts: Int
    /// The number of the call in its queue. Numbers increase and may have gaps.
    package var number: Int64
    package var call: ForwardedCall

    package init(queue: ForwardQueue, epoch: Int64, attempts: Int, number: Int64, call: ForwardedCall) {
        self.queue = queue
        self.epoch = epoch
        self.attempts = attempts
        self.number = number
        self.call = call
    }
}
