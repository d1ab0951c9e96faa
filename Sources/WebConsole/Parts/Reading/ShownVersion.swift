import Crypto
package import Model

/// The version of an object that a page has shown, in a hidden field of its forms. When a form is sent, this version is compared with the stored one: of two people
/// who change one object, the second gets an error.
package enum ShownVersion {
    /// The hidden field.
    package static let field = "shown"

    package static func hidden(_ version: String) -> FormView.Field {
        .hidden(field, version)
    }

    /// A version of values for which the API states none.
    package static func digest(of values: [JSON]) -> String {
        HexCoding.encode(SHA256.hash(data: JSONWriter.bytes(.array(values))).prefix(16))
    }

    /// The calls of the page, for what is stored now; none: the form has no version.
    package static func calls(
        of page: any ConsolePage,
        _ request: PageRequest,
        _ fields: FormFields,
        _ answers: Answers
    ) -> [APICall] {
        fields[field] == nil ? [] : page.calls(request, answers)
    }

    /// Compares the version that a page has shown with the stored one.
    ///
    /// - Parameters:
    ///   - fields: those of the form.
    ///   - stored: the answer with the object.
    ///   - language: that of the error.
    ///   - version: the version of the object; nil: it has none.
    ///   - text: the error for a stored version.
    /// - Returns: the error of the form; nil: the versions are equal, or the form has none.
    package static func refusal(
        _ fields: FormFields,
        _ stored: APIAnswer?,
        _ language: Language,
        of version: (JSON) -> String?,
        _ text: (String) -> Text
    ) -> FieldErrors? {
        guard let shown = fields[field], let stored else { return nil }
        guard stored.isSuccess else { return FieldErrors(stored) }
        guard let present = version(stored.body), present != shown else { return nil }
        return FieldErrors(["": text(present)(language)])
    }
}
