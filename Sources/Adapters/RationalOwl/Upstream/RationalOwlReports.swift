package import Model

extension RationalOwlAdapter {
    /// The tracking callback of the back end that sends for the gateway (docs/contracts/rationalowl.md#8.6). The gateway's sends name devices, so that entries with a
    /// phone are of others. States without a receipt are left out: undelivered, fallback sent and no app do not change what is known about the send.
    package func reports(in call: VendorRequest, settings: UpstreamSettings) -> [UpstreamReport]? {
        guard let messages = (try? JSONParser.parse(call.body))?.array else { return nil }
        var reports: [UpstreamReport] = []
        for message in messages {
            guard let reference = message["mId"]?.string else { continue }
            for entry in message["ds"]?.array ?? [] {
                guard let device = entry["dId"]?.string, let push = entry["p"]?.object,
                    let state = push["s"]?.lenientInt.flatMap({ Int(exactly: $0) }).flatMap(PushState.init(rawValue:))
                else { continue }
                let key = VendorDeviceKey(device)
                switch state {
                case .delivered:
                    let time = Self.time(push["nt"])
                    reports.append(UpstreamReport(reference: reference, device: key, kind: .received, at: time))
                case .read:
                    let time = Self.time(push["rt"]) ?? Self.time(push["nt"])
                    reports.append(UpstreamReport(reference: reference, device: key, kind: .read, at: time))
                case .reserved, .undelivered, .fallbackSent, .noApp: continue
                }
            }
        }
        return reports
    }

    /// Nil: the time is missing, or 0.
    private static func time(_ value: JSON?) -> Timestamp? {
        value?.lenientInt.flatMap { $0 > 0 ? Timestamp(milliseconds: Int64($0)) : nil }
    }
}

extension RationalOwlAdapter: ReportAttaching {
    /// `setCallbackUrl` of the back end that sends for the gateway (docs/contracts/rationalowl.md#8.5). Assumed: an empty URL removes the callback.
    package func attachment(
        to url: String?,
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> VendorRequest {
        guard let server = upstream.secrets[RationalOwlSend.serverField], !server.isEmpty else {
            throw AdapterError(.missing, field: RationalOwlSend.serverField)
        }
        let binding = RationalOwlSettings(settings)
        guard let account = binding.accountID else { throw AdapterError(.missing, field: "accountId") }
        var body = JSONObject()
        body["sId"] = binding.serviceID.map { .string($0) }
        body["rId"] = .string(server)
        body["aId"] = .string(account)
        body["ip"] = .string(RationalOwlSend.address(of: upstream))
        body["url"] = .string(url ?? "")
        let bytes = JSONWriter.bytes(.object(body))
        return RationalOwlSend.request(.setCallbackURL, "/msgClient/setCallbackUrl", bytes, at: time)
    }
}
