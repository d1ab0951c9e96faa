/// The vendors of one gateway and their abilities. Made once at start-up, so that no call has to check an adapter for its abilities.
package struct VendorCatalog: Sendable {
    /// In the order of their listing.
    package let adapters: [any VendorAdapter]
    package let byVendor: [Vendor: any VendorAdapter]
    package let multiStep: [Vendor: any MultiStepVendor]
    /// Vendors whose devices fetch their messages.
    package let inboxes: Set<Vendor>
    package let campaigns: [Vendor: any CampaignVendor]
    /// By the name of the format.
    package let exporters: [String: any EventExporting]
    package let callbacks: [Vendor: any TrackingCallbacks]
    package let provisioned: [Vendor: any ProvisionedVendor]
    package let importing: [Vendor: any DeviceImporting]
    /// Vendors whose own export of devices is read as it is.
    package let exports: [Vendor: any ExportReading]
    /// Vendors whose real services the gateway can call.
    package let upstreams: [Vendor: any UpstreamVendor]
    /// Vendors that a call makes report to the gateway.
    package let attaching: [Vendor: any ReportAttaching]
    /// Vendors whose devices act with tokens that a back end obtains.
    package let issuing: [Vendor: any DeviceTokenIssuing]
    package let capturing: [any CaptureNaming]

    package init(_ adapters: [any VendorAdapter]) {
        func adopting<Ability>(_ ability: (any VendorAdapter) -> Ability?) -> [Vendor: Ability] {
            Dictionary(
                adapters.compactMap { adapter in ability(adapter).map { (adapter.vendor, $0) } },
                uniquingKeysWith: { first, _ in first }
            )
        }
        self.adapters = adapters
        byVendor = adopting { $0 }
        multiStep = adopting { $0 as? any MultiStepVendor }
        inboxes = Set(adopting { $0 as? any InboxVendor }.keys)
        campaigns = adopting { $0 as? any CampaignVendor }
        exporters = Dictionary(
            adapters.compactMap { $0 as? any EventExporting }.map { ($0.exportFormat, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        callbacks = adopting { $0 as? any TrackingCallbacks }
        provisioned = adopting { $0 as? any ProvisionedVendor }
        importing = adopting { $0 as? any DeviceImporting }
        exports = adopting { $0 as? any ExportReading }
        upstreams = adopting { $0 as? any UpstreamVendor }
        attaching = adopting { $0 as? any ReportAttaching }
        issuing = adopting { $0 as? any DeviceTokenIssuing }
        capturing = adapters.compactMap { $0 as? any CaptureNaming }
    }

    /// The reports of devices of a dialect, by the dialect's stored name. Nothing is known of an unknown dialect, so that its silence says nothing.
    package func reporting(of name: String) -> Reporting {
        byVendor[Vendor(name)]?.reports ?? Reporting(received: .never, read: .never)
    }

    /// The dialects whose receipts a setting of the app's binding switches on, with the name of the setting: a list.
    package var receiptSettings: [Vendor: String] {
        byVendor.compactMapValues { adapter in
            if case .configured(let setting) = adapter.reports.received { setting } else { nil }
        }
    }

    /// The vendors that `isMeant` selects, in the order of the listing.
    package func vendors(_ isMeant: (Vendor) -> Bool) -> [Vendor] { adapters.map(\.vendor).filter(isMeant) }

    /// The kinds of upstream credentials, in the order of the listing.
    package var upstreamKinds: [String] { vendors { upstreams[$0] != nil }.map(UpstreamKind.kind) }

    /// The names of the selected vendors, for messages.
    package func names(_ isMeant: (Vendor) -> Bool) -> [String] { vendors(isMeant).map(\.rawValue) }
}
