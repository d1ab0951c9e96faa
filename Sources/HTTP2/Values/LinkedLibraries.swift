internal import CNGHTTP2
internal import COpenSSL

/// The versions of the libraries that the program has loaded, which the system's packages update without a new build.
package enum LinkedLibraries {
    /// For example `3.0.17`.
    package static var openSSL: String { text(ofOpenSSL: UInt64(OpenSSL_version_num())) }

    /// For example `1.52.0`.
    package static var nghttp2: String {
        // The structure is static memory of the library.
        let number = unsafe nghttp2_version(0)?.pointee.version_num ?? 0
        return "\((number >> 16) & 0xFF).\((number >> 8) & 0xFF).\(number & 0xFF)"
    }

    /// The version of a number in OpenSSL's form, `0xMNN00PP0`.
    static func text(ofOpenSSL number: UInt64) -> String {
        "\(number >> 28).\((number >> 20) & 0xFF).\((number >> 4) & 0xFF)"
    }
}
