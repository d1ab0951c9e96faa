import Adapters
import ArgumentParser
import CommandSupport
import Model

/// Lists the vendors, or the possible content of a vendor's binding.
struct VendorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vendors",
        abstract: "List the vendors, or the keys and settings of one vendor's bindings.",
        discussion:
            "Without a name: one line per vendor. With a name: the possible content of its binding in a provisioning file."
    )

    @Argument(help: "A vendor.") var vendor: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        let vendors = VendorCatalog.product
        guard let vendor else {
            let all = vendors.adapters.compactMap { vendors.provisioned[$0.vendor] }
            if json {
                Console.print(.array(all.map { VendorForm($0).summary }))
            } else {
                Console.print(
                    Console.table(["vendor", "product"], all.map { [$0.vendor.rawValue, $0.bindingForm.product] })
                )
            }
            return
        }
        guard let known = vendors.provisioned[Vendor(vendor)] else {
            let names = vendors.names { vendors.provisioned[$0] != nil }.joined(separator: ", ")
            throw CommandFailure("vendors: unknown vendor '\(vendor)'; use one of \(names)", isUsage: true)
        }
        let form = VendorForm(known)
        if json { Console.print(form.json) } else { Console.print(form.text) }
    }
}

/// The possible content of a vendor's binding, as text and as JSON.
struct VendorForm {
    private let vendor: any ProvisionedVendor
    private let form: BindingForm
    /// The vendor's own settings, and those that all vendors with senders share.
    private let settings: [VendorSetting]
    private let columns: [(own: String, column: String)]
    /// Nil: the gateway cannot call the vendor's own service.
    private let upstream: UpstreamForm?

    init(_ vendor: any ProvisionedVendor) {
        self.vendor = vendor
        upstream = (vendor as? any UpstreamVendor)?.upstreamForm
        form = vendor.bindingForm
        settings = vendor.allSettings.all
        columns = ((vendor as? any DeviceImporting)?.importColumns ?? [:])
            .map { (own: $0.key, column: $0.value.rawValue) }
            .sorted { $0.own < $1.own }
    }

    var summary: JSON { ["vendor": .string(vendor.vendor.rawValue), "product": .string(form.product)] }

    var text: String {
        var parts = ["\(form.product): bindings: { \(vendor.vendor): { … } }"]
        parts.append(Console.table(["key", "meaning"], form.fields.map { [Self.name($0), $0.summary] }))
        if !settings.isEmpty {
            parts.append(
                Console.table(
                    ["setting", "default", "meaning"],
                    settings.map { [$0.name, $0.standard ?? "-", $0.summary] }
                )
            )
        }
        if !columns.isEmpty {
            parts.append(Console.table(["import column", "corresponds to"], columns.map { [$0.own, $0.column] }))
        }
        if let upstream {
            let fields =
                [["url", "The address, like \(upstream.exampleURL)."]] + upstream.fields.map(Self.row) + Self.shared
            parts.append("\(UpstreamKind.kind(of: vendor.vendor)): a credential for the vendor's own service")
            parts.append(Console.table(["key", "meaning"], fields))
        }
        return parts.joined(separator: "\n\n")
    }

    var json: JSON {
        [
            "vendor": .string(vendor.vendor.rawValue), "product": .string(form.product),
            "keys": .array(
                form.fields.map {
                    ["name": .string($0.name), "summary": .string($0.summary), "secret": .bool($0.isSecret)]
                }
            ),
            "settings": .array(
                settings.map {
                    [
                        "name": .string($0.name), "default": $0.standard.map { .string($0) } ?? .null,
                        "summary": .string($0.summary),
                    ]
                }
            ),
            "importColumns": .object(JSONObject(columns.map { ($0.own, .string($0.column)) })),
            "upstream": upstream.map(Self.json) ?? .null,
        ]
    }

    /// The fields of every upstream.
    private static let shared = [
        ["callsPerSecond", "The rate limit of its calls over all nodes. Optional."],
        ["trustRootsFile", "The authorities of its certificate (PEM). Default: those of the system."],
    ]

    private static func row(_ field: UpstreamForm.Field) -> [String] {
        let end =
            if case .flag(let value) = field.kind { " Default: \(value)." } else {
                field.isRequired ? "" : " Optional."
            }
        return [field.kind == .secret ? "\(field.name)Env, …File" : field.name, field.summary + end]
    }

    private static func json(_ form: UpstreamForm) -> JSON {
        [
            "exampleUrl": .string(form.exampleURL),
            "keys": .array(
                form.fields.map {
                    [
                        "name": .string($0.name), "summary": .string($0.summary), "secret": .bool($0.kind == .secret),
                        "required": .bool($0.isRequired),
                    ]
                }
            ),
        ]
    }

    /// The name of a field. A secret is read from the environment or a file.
    private static func name(_ field: BindingForm.Field) -> String {
        field.isSecret ? "\(field.name)Env, …File" : field.name
    }
}
