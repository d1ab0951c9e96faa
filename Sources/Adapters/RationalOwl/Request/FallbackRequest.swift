import Model

/// The object `a` of a send call: the fallback if the push does not arrive.
///
/// Checked here and stored with the message as JSON; the gateway sends no fallback yet (docs/contracts/rationalowl.md#9).
struct FallbackRequest {
    /// The checked fields under the vendor's keys: `s`, `t`, `sp`, `atId`, `kcId`, `atm`.
    let json: JSON

    /// Nil if the object is absent, or switched off (`s` 1).
    ///
    /// - Throws: `AdapterError` naming the invalid field.
    init?(_ fields: RationalOwlFields?, settings: RationalOwlSettings) throws(AdapterError) {
        guard let fields else { return nil }
        switch try fields.integer("s") {
        case 1: return nil
        case 2: break
        case nil: throw fields.missing("s")
        case .some: throw fields.invalid("s")
        }
        var object = JSONObject([("s", 2)])
        switch try fields.integer("t") {
        case 11: try Self.addAlimtalk(fields, settings: settings, to: &object)
        case 12:
            object["t"] = 12
            object["sp"] = .string(try Self.sendingNumber(fields, settings: settings))
        case nil: throw fields.missing("t")
        case .some: throw fields.invalid("t")
        }
        json = .object(object)
    }

    /// `atm` 2: if the Alimtalk fails too, a text message follows. A sending number is required only in this case.
    private static func addAlimtalk(
        _ fields: RationalOwlFields,
        settings: RationalOwlSettings,
        to object: inout JSONObject
    ) throws(AdapterError) {
        let thenText = try fields.integer("atm") ?? 1
        guard (1...2).contains(thenText) else { throw fields.invalid("atm") }
        object["t"] = 11
        if thenText == 2 || fields.value("sp") != nil {
            object["sp"] = .string(try sendingNumber(fields, settings: settings))
        }
        // Assumed: an Alimtalk requires both. The vendor's documents list them for it without saying "required".
        object["atId"] = .string(try fields.required("atId"))
        object["kcId"] = .string(try fields.required("kcId"))
        object["atm"] = .int(thenText)
    }

    private static func sendingNumber(_ fields: RationalOwlFields, settings: RationalOwlSettings) throws(AdapterError)
        -> String
    {
        guard let number = try fields.phone("sp") else { throw fields.missing("sp") }
        guard settings.sendingNumbers?.contains(number.digits) ?? true else { throw fields.invalid("sp") }
        return number.digits
    }
}
