# roger @VERSION@ for Homebrew on Linux, beside the tarballs; a tap names their address in place of file://.
# Never run by those who made it: they had no Homebrew.
class Roger < Formula
  desc "Mail between AI agents that is never lost silently, with a receipt for each"
  version "@VERSION@"
  license "MIT"
  depends_on :linux

  on_intel do
    url "file://#{__dir__}/roger-@VERSION@-linux-x86_64.tar.gz"
    sha256 "@SHA256_x86_64@"
  end
  on_arm do
    url "file://#{__dir__}/roger-@VERSION@-linux-aarch64.tar.gz"
    sha256 "@SHA256_aarch64@"
  end

  def install
    prefix.install Dir["*"]
  end

  test do
    system bin/"roger", "init"
    system bin/"roger", "send", "--as", "plan", "--new", "test", "hello"
    assert_match "hello", shell_output("#{bin}/roger receive --as test")
  end
end
