package import Model

/// One vendor's adapter, with the facts about the vendor that the conformance rules need.
package struct AdapterUnderTest: Sendable {
    package var adapter: any VendorAdapter
    package var settings: BindingSettings
    /// Documented calls that become commands; together they cover every named call of the catalog.
    package var documented: [VendorRequest]
    /// Names of routes that only catch calls outside the catalog.
    package var catchAll: Set<String>
    /// The fault of an answer to a request, by the vendor's own rules; nil: no fault. This check is written from the
    /// contract, never from the adapter.
    package var fault: @Sendable (VendorResponse, VendorRequest) -> String?
    /// The maximum size of a payload for the vendor's devices, in bytes.
    package var payloadLimitBytes: Int

    package init(
        adapter: any VendorAdapter,
        settings: BindingSettings,
        documented: [VendorRequest],
        catchAll: Set<String>,
        payloadLimitBytes: Int = 4096,
        fault: @escaping @Sendable (VendorResponse, VendorRequest) -> String?
    ) {
        self.adapter = adapter
        self.settings = settings
        self.documented = documented
        self.catchAll = catchAll
        self.payloadLimitBytes = payloadLimitBytes
        self.fault = fault
    }

    /// The commands of a request, or the error of the adapter.
    func commands(_ request: VendorRequest) -> Result<[Command], AdapterError> {
        do throws(AdapterError) {
            _ = try adapter.locate(request)
            return .success(try adapter.decode(request, settings: settings))
        } catch {
            return .failure(error)
        }
    }

    /// The answer to a client if its commands return `replies`.
    func answer(_ request: VendorRequest, _ replies: ([Command]) -> [Reply]) -> VendorResponse {
        switch commands(request) {
        case .success(let commands): adapter.encode(replies(commands), for: request, settings: settings)
        case .failure(let error): adapter.refuse(error, for: request, settings: settings)
        }
    }
}

/// One rule for every adapter. It returns the violations, so that it needs no test framework.
package struct AdapterRule: Sendable, CustomStringConvertible {
    /// Situation and rule.
    package var name: String
    /// Empty when the rule holds.
    package var violations: @Sendable (AdapterUnderTest) -> [String]

    init(_ name: String, _ violations: @escaping @Sendable (AdapterUnderTest) -> [String]) {
        self.name = name
        self.violations = violations
    }

    package var description: String { name }

    /// The first violations: enough to find the cause, few enough to read.
    package func faults(_ subject: AdapterUnderTest) -> [String] { Array(violations(subject).prefix(5)) }
}
