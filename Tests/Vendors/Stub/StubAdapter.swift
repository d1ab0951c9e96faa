import HTTPTypes
package import Model

/// The adapter of Stub, a vendor that exists only for tests: the smallest vendor that registers a device, sends, and receives a receipt.
///
/// It is the example for a new vendor in `docs/adding-a-vendor.md`. Back ends authenticate with the header `X-Stub-Key`. Devices do not authenticate:
/// their ids are the capabilities.
package struct StubAdapter: VendorAdapter {
    package static let vendor: Vendor = "stub"

    package init() {}

    package var vendor: Vendor { Self.vendor }
    package var routes: [VendorRoute] { StubCall.routes }
    package var reports: Reporting { Reporting(received: .reported, read: .never) }
    package var isPersonal: Bool { false }

    package var senders: SenderForm? {
        SenderForm(ownKey: .init(header: StubBinding.keyHeader, secret: StubBinding.sendKeyName))
    }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        let call = try StubCall(request)
        let app = try StubRequest(call, request).text("app")
        let key = BindingKey(vendor: vendor, kind: StubBinding.appKind, value: app, host: request.host)
        return (key, call == .send ? .sender : .device)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let call = try StubCall(request)
        return [try StubRequest(call, request).command(settings: StubBinding(settings))]
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        StubResponse.answer(replies)
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        StubResponse.failure(StubError(error))
    }

    package func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings)
        throws(AdapterError) -> PushPayload
    {
        try StubPayload(notification).encoded()
    }
}

extension StubAdapter: DeviceImporting {
    package var importColumns: [String: DeviceColumn] { ["device": .key, "owner": .user] }
}

extension StubAdapter: CaptureNaming {
    package var fieldKinds: [String: FieldKind] { ["owner": .personal] }
}
